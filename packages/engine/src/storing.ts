export { BUNDLE_FORMAT, FIRST_SUM, opened, sealed } from './ports/ledger/bundles.ts';
export { isInShare } from './canaries/share.ts';
export { isStill, promisedBy, stampWith } from './cells/stamp.ts';
export { withoutErased } from './erasure/request.ts';
export { EngineError, ownerAway } from './errors.ts';
export {
  aliasesOf,
  endsOf,
  foldRelations,
  graphOf,
  inOrder,
  openProposals,
  requireKnownEnds,
  standingOf,
  takenBackBy,
  withOneSelf,
} from './graph/fold.ts';
export { changedEntities, changedRelations, lostRelations, sameFollowing, sameRelation } from './graph/refold.ts';
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
export { forgottenAt, goneSince, isMerged, isOfForgotten, liveVersion, markOf, versionsOf } from './memories/evolve.ts';
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
export { KEY_OF, SAID_KINDS, saidIds } from './memories/said-ids.ts';
export { countSaying, heard, pausedAtOf, saidWhen, withPause } from './messages/messages.ts';
export { packedVector, unpackedVector } from './models/vectors.ts';
export { FAILURES_KEPT, replayPriority, CLOCK_AHEAD_MS, CLOCK_NOTED_MS } from './ports/ledger/lanes.ts';
export { addSpent, NOTHING_SPENT, OPEN_CANARY_STATES } from './ports/ledger/canaries.ts';
export { NOT_KEPT, readsOtherwise } from './ports/ledger/erasures.ts';
export { LEFT_MAX } from './ports/ledger/outbox.ts';
export { InvalidCursorError } from './ports/ledger/ledger.ts';
export { TASK_VERSIONS_KEPT } from './ports/ledger/task-states.ts';
export { TOPIC_OWNERS } from './ports/ledger/nights.ts';
export { FIRST_FAILED_STATUS, idOfPost, isPost, POST, REFUSED_STATUSES } from './ports/ledger/tenants.ts';
export { needsCalls } from './ports/ledger/usage.ts';
export { SHELVES, shownPart } from './ports/search-index.ts';
export { placementOf, profileRank } from './profile/rank.ts';
export { blankedBy, creditChanges, LOOKED_FOR_MAX, laneOfReceipts, sameCredits } from './receipts/receipts.ts';
export { withoutOwner } from './replays/without-owner.ts';
export { fold, isTrueOf, matches, sameFolded, valueBehind } from './search/filter/filter.ts';
export { bm25, bm25Weights, cosineOf, dot, lengthOf, termCountsOf, visible } from './search/hits.ts';
export { DEFAULT_SETTINGS } from './settings.ts';
/**
 * What stores need of the engine, and nothing that brings the pipeline or the contracts with it. The threads of a store load
 * this file instead of the whole engine, which would cost each of them more time than all of its own code.
 */
export { type Reservation, withReservation } from './ports/ledger/replays.ts';
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
} from './webhooks/notices.ts';
export { besideOwner, compareSaid, ownerOf } from './words.ts';
