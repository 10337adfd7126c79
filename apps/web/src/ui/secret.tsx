import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';

interface Shown {
  readonly secret: string;
  readonly title?: string;
  /** What else there is to know about it. */
  readonly children?: ReactNode;
  readonly close: () => void;
}

/** Shown once: nobody can read it again, this server neither. */
export function Secret({ secret, title = 'Secret', close, children }: Shown) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <Dialog title={title} close={close}>
      {children}
      <p>Copy it now. It is shown only once.</p>
      <pre className="wrap">{secret}</pre>
      <div className="row after">
        {'clipboard' in navigator && (
          <button
            type="button"
            onClick={() => void navigator.clipboard.writeText(secret).then(() => setIsCopied(true))}
          >
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        )}
        <button type="button" className="main" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
