import type { Canary } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Amount } from '../../ui/fields.tsx';
import { Answer } from '../../ui/states.tsx';

interface Asked {
  readonly canary: Canary;
  readonly close: () => void;
}

/** What an undo would do and use, before it is done. */
export function Undoing({ canary: { id, budget }, close }: Asked) {
  const [tokens, setTokens] = useState(budget.tokens);
  const rehearsal = useQuery({
    queryKey: ['canaries', id, 'undo'],
    queryFn: async ({ signal }) => {
      const answer = await api.canaries.undo(id, { dry_run: true }, { signal });
      if ('dry_run' in answer) return answer;
      throw new Error('expected a dry run to be answered with what would be undone');
    },
    staleTime: 0,
  });
  return (
    <Confirm
      title="Undo this canary?"
      submit="Undo and consolidate again"
      close={close}
      run={() => api.canaries.undo(id, { budget: { ...budget, tokens } })}
      touches={[['canaries']]}
    >
      <Answer of={rehearsal}>
        {({ owners, consolidations, batches, expected: { calls, tokens: expected } }) => (
          <p>
            {consolidations.toLocaleString('en')} consolidations of {owners.toLocaleString('en')} owners will be undone,
            and {batches.toLocaleString('en')} batches consolidated again without the changes. This will use about{' '}
            {calls.toLocaleString('en')} model calls and {expected.toLocaleString('en')} tokens. Explicit writes and
            approvals stay.
          </p>
        )}
      </Answer>
      <Amount name="Token limit" value={tokens} change={setTokens} hint="Empty: no limit." />
    </Confirm>
  );
}
