import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from '../api.ts';
import '../style.css';
import { begin } from './coming.ts';
import { OwnPage } from './page.tsx';

// Outside of what is drawn, which may be drawn twice: a link opens once.
begin();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <OwnPage />
      </QueryClientProvider>
    </StrictMode>,
  );
}
