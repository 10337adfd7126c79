/**
 * What stores need of the engine, and nothing that brings the pipeline or the contracts with it. The threads of a store load
 * this file instead of the whole engine, which would cost each of them more time than all of its own code.
 */

export { withoutErased, withoutOwner } from './erasure/request.ts';
export { EngineError, ownerAway } from './errors.ts';
export {
  aliasesOf,
  changedEntities,
  changedRelations,
  endsOf,
  foldRelations,
  graphOf,
  inOrder,
  lostRelations,
  openProposals,
  requireKnownEnds,
  sameFollowing,
  sameRelation,
  standingOf,
  takenBackBy,
  withOneSelf,
} from './graph/fold.ts';
export {
  batchIdOf,
  digitsOf,
  eventIdOf,
  ID_ALPHABET,
  messageIdOf,
  numberOf,
  ofNoSpace,
  ownerBitsIn,
  ownerBitsOf,
  ownerBitsOfLane,
  ownerDigits,
  ownerKeyOf,
  payerOf,
  placeOfEvent,
  placeOfMessage,
  spaceIn,
} from './ids.ts';
export { climb, LARGER_BATCHES, largerWindow, rungOn } from './limits/economy.ts';
export { hasConclusions, piecesOf, withTurned } from './memories/conclusions.ts';
export {
  forgottenAt,
  goneSince,
  isMerged,
  isOfForgotten,
  KEY_OF,
  liveVersion,
  markOf,
  SAID_KINDS,
  saidIds,
  versionsOf,
} from './memories/evolve.ts';
export {
  besideQuote,
  cutOf,
  evidenceByMessage,
  hasFallen,
  isQuoteKept,
  leaningIn,
  quoteShown,
  type ShownMessage,
  shownOf,
  withoutWords,
} from './memories/forgotten.ts';
export { foundVersions, historyFrom, sourcesOf, UNDONE_NOTE } from './memories/former.ts';
export { proposalOver } from './memories/ratings.ts';
export { countSaying, heard, pausedAtOf, saidWhen, withPause } from './messages/messages.ts';
export { packedVector, unpackedVector } from './models/vectors.ts';
export { BUNDLE_FORMAT, FIRST_SUM, isStill, opened, promisedBy, sealed, stampWith } from './ports/ledger/bundles.ts';
export { addSpent, isInShare, NOTHING_SPENT, OPEN_CANARY_STATES } from './ports/ledger/canaries.ts';
export { NOT_KEPT, readsOtherwise } from './ports/ledger/erasures.ts';
export { CLOCK_AHEAD_MS, CLOCK_NOTED_MS, FAILURES_KEPT, replayPriority } from './ports/ledger/lanes.ts';
export { InvalidCursorError } from './ports/ledger/ledger.ts';
export { TOPIC_OWNERS } from './ports/ledger/nights.ts';
export { LEFT_MAX } from './ports/ledger/outbox.ts';
export { GIVEN_UP_MS, keptBackUntil } from './ports/ledger/owners-away.ts';
export { type ReservedTokens, withReservation } from './ports/ledger/replays.ts';
export { TASK_VERSIONS_KEPT } from './ports/ledger/task-states.ts';
export { FIRST_FAILED_STATUS, idOfPost, isPost, POST, REFUSED_STATUSES } from './ports/ledger/tenants.ts';
export { needsCalls } from './ports/ledger/usage.ts';
export { NOTHING_USED } from './ports/models.ts';
export { SHELVES, shownPart } from './ports/search-index.ts';
export { placementOf, profileRank } from './profile/placement.ts';
export { blankedBy, creditChanges, LOOKED_FOR_MAX, laneOfReceipts, sameCredits } from './receipts.ts';
export { fold, isTrueOf, matches, sameFolded, valueBehind } from './search/filter/filter.ts';
export { bm25, bm25Weights, cosineOf, dot, lengthOf, termCountsOf, visible } from './search/hits.ts';
export { DEFAULT_SETTINGS } from './settings.ts';
export { DAY_MS, dayOf } from './text/dates.ts';
export { canonical, normaliseText } from './text/normalise.ts';
export { TERMS_VERSION } from './text/terms.ts';
export { exchangesIn, paceWith, silenceOf } from './turns/pace.ts';
export {
  attackNotice,
  batchNotice,
  canaryNotice,
  deliveryIdOf,
  economyNotice,
  holdNotice,
  isRetracting,
  isWanted,
  memoryNotices,
  nightNotice,
  relationNotice,
  retractionNotice,
} from './webhooks.ts';
export { besideOwner, compareSaid, ownerOf } from './words.ts';
