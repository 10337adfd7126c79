import { type Message, TRUSTS, type Trust } from '../words.ts';

/** Whose word a message is. What a tool printed is anybody's, unless who posted it answers for the tool. */
export const trustOf = ({ role, trust }: Pick<Message, 'role' | 'trust'>): Trust => trust ?? BY_ROLE[role];

const BY_ROLE: Readonly<Record<Message['role'], Trust>> = {
  user: 'user',
  system: 'imported',
  assistant: 'agent',
  tool: 'external',
};

/** Of what a thing came from together: it is no surer than its least sure part. */
export const leastOf = (trusts: readonly Trust[]): Trust =>
  (trusts.length === 1 ? trusts[0] : byRank(trusts).at(-1)) ?? LEAST;

/** Of sayings that each stand for themselves: who is believed needs nobody else to say it. */
export const bestOf = (trusts: readonly Trust[]): Trust => byRank(trusts)[0] ?? LEAST;

const LEAST: Trust = 'external';

const byRank = (trusts: readonly Trust[]): readonly Trust[] => TRUSTS.filter((one) => trusts.includes(one));
