import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import { outcomeScopeOf, PLATFORM_SCOPE, probabilitySourceOf } from '../src/domain/decisions/calibration.ts';
import type { AnsweredQuestion } from '../src/domain/decisions/decision.ts';
import { type CalibrationReport, type DecisionOutcome, judgedAnswer } from '../src/domain/decisions/outcome.ts';
import { type DecisionFilter, type StoredDecision, answerOfStored } from '../src/domain/decisions/stored-decision.ts';
import { InvalidInput, NotFound, Unavailable } from '../src/domain/errors.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { annotator, anyAdmin, system, traceReader } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DecisionPlatform } from './operation/platform.ts';
import { changeOrAdd, type FilteredPage, type FoundPage, pageOf, removeOldest } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';

type DecisionScope = Scope<DecisionPlatform>;

/** Maximum time that an outcome waits for guardrails that mask its decision in this process, in ms. */
const MASKING_MS = 5_000;
/** Time after which a caller may report the outcome again, in s. */
const RETRY_AFTER_SECONDS = 5;

/** Lists stored decisions that the caller may see. */
export const listDecisions = operation({
  name: 'listDecisions',
  access: traceReader,
  async run(
    scope: DecisionScope,
    { filter, page }: FilteredPage<Omit<DecisionFilter, 'visible'>, 'created_at'>,
  ): Promise<FoundPage<StoredDecision>> {
    const { stores, decisions } = scope.platform;
    await decisions.queue.caughtUp();
    return await pageOf(stores.decisions, { ...filter, visible: visibilityOf(callerOf(scope)) }, page);
  },
});

/** A stored decision; null when there is none that the caller may see. */
export const findDecision = operation({
  name: 'findDecision',
  access: traceReader,
  async run(scope: DecisionScope, id: string): Promise<StoredDecision | null> {
    const { stores, decisions } = scope.platform;
    await decisions.queue.caughtUp();
    const decision = await stores.decisions.find(id);
    return decision !== null && mayRead(visibilityOf(callerOf(scope)), decision) ? decision : null;
  },
});

/** The right answer to a question, as a caller reports it. */
export interface OutcomeDraft {
  readonly callId: string;
  /** Name of the question. Null when `index` names it. */
  readonly question: string | null;
  /** Position of the question in the decision. Null when `question` names it. */
  readonly index: number | null;
  readonly outcome: unknown;
}

/** A recorded outcome, with its question and answer. */
export interface RecordedOutcome extends AnsweredQuestion {
  readonly decision: StoredDecision;
  readonly outcome: DecisionOutcome;
}

/** The question that a draft names. Throws InvalidInput when it names no question or several. */
function questionOf({ content }: StoredDecision, { question: name, index }: OutcomeDraft): AnsweredQuestion {
  const found = content.answers.flatMap((stored, position): readonly AnsweredQuestion[] => {
    // A question may have no name: a draft without a name does not match it.
    const isNamed = index === null ? name !== null && stored.question.name === name : position === index;
    return isNamed ? [{ position, question: stored.question, answer: answerOfStored(stored) }] : [];
  });
  const [one, ...more] = found;
  if (one !== undefined && more.length === 0) return one;
  const message = one === undefined ? 'names no question of the decision' : 'names several questions: use `index`';
  throw new InvalidInput(`\`question\` ${message}.`, [{ path: ['input', 'question'], rule: 'value', message }]);
}

/**
 * Records the right answer to a question of a stored decision that the caller may see. The outcome belongs to the scope
 * of the caller: a team, a key, or the whole platform for an administrator. A second outcome in the same scope replaces
 * the first. Throws NotFound, InvalidInput, and Unavailable while a guardrail masks the decision.
 */
export const recordDecisionOutcome = operation({
  name: 'recordDecisionOutcome',
  access: annotator,
  async run(scope: DecisionScope, draft: OutcomeDraft): Promise<RecordedOutcome> {
    const { stores, decisions } = scope.platform;
    const caller = callerOf(scope);
    if (!(await decisions.pending.settled(draft.callId, MASKING_MS)))
      throw new Unavailable('A guardrail still checks the decision before it is stored.', RETRY_AFTER_SECONDS);
    await decisions.queue.caughtUp();
    const [decision] = await stores.decisions.list({
      filter: { visible: visibilityOf(caller), callId: draft.callId, before: null },
      sort: 'created_at',
      descending: true,
      limit: 1,
      from: 0,
    });
    if (decision === undefined) throw notStored(draft.callId);
    const answered = questionOf(decision, draft);
    const { question, answer, position } = answered;
    const source = probabilitySourceOf(answer);
    const result = judgedAnswer(question, answer, draft.outcome);
    // Only for the compiler: `judgedAnswer` has thrown for such a question.
    if (question.kind === 'box' || source === null) throw new NotFound('stored decision', draft.callId);
    const authorship = authored(scope);
    const outcomeScope = outcomeScopeOf(visibilityOf(caller));
    const id = `${decision.id}.${position}`;
    const outcome: DecisionOutcome = {
      // The outcome of an administrator and that of the owner are separate rows: neither replaces the other.
      id: outcomeScope === PLATFORM_SCOPE ? `${id}.${PLATFORM_SCOPE}` : id,
      scope: outcomeScope,
      decisionId: decision.id,
      model: modelOf(answer) ?? decision.content.upstream,
      kind: question.kind,
      source,
      ...result,
      ...ownerOf(caller),
      ...newStamps(authorship),
    };
    const { row } = await changeOrAdd(stores.decisionOutcomes, outcome, ({ createdAt, createdBy }) => ({
      ...outcome,
      createdAt,
      createdBy,
    }));
    return { ...answered, decision, outcome: row };
  },
});

/** The model of an answer; null for a refusal, and where one model answered all questions. */
const modelOf = (answer: AnsweredQuestion['answer']): string | null =>
  answer.kind === 'refusal' ? null : (answer.model ?? null);

const notStored = (callId: string): NotFound =>
  new NotFound(
    'stored decision',
    callId,
    `No stored decision has the call id ${callId}. Decisions are stored where \`store_decisions\` of the settings or of the key is \`redacted\` or \`full\`.`,
  );

/** Lists the calibrations of all groups of answers that have outcomes. */
export const listCalibrations = operation({
  name: 'listCalibrations',
  access: anyAdmin,
  async run({ platform }: DecisionScope): Promise<readonly CalibrationReport[]> {
    await platform.decisions.calibrations.refresh();
    return platform.decisions.calibrations.reports();
  },
});

/** Reads and fits outcomes that were recorded since the last run. */
export const refreshCalibrations = operation({
  name: 'refreshCalibrations',
  access: system,
  run: ({ platform }: DecisionScope): Promise<void> => platform.decisions.calibrations.refresh(),
});

/** Removes at most `limit` decisions from before `beforeMs`; resolves to their number. Outcomes stay. */
export const removeExpiredDecisions = operation({
  name: 'removeExpiredDecisions',
  access: system,
  async run(
    { platform }: DecisionScope,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> {
    const filter = { visible: { kind: 'all' }, callId: null, before: new Date(beforeMs) } as const;
    return removeOldest(platform.stores.decisions, filter, limit);
  },
});
