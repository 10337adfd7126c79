import type { Fact } from '../../plan.ts';

/**
 * The category of a wish to have something forgotten. Such a fact deletes what it is about, or nothing; it is never
 * remembered itself: a memory of what somebody wanted gone would keep it.
 */
export const FORGET_CATEGORY = 'forget';

export const isWishToForget = ({ category }: Pick<Fact, 'category'>): boolean => category === FORGET_CATEGORY;
