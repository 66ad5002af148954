import type { JsonObject } from '../json-object.ts';

/** Facts of a logged call. */
export interface CallEvidence {
  readonly userId: string | null;
  readonly model: string | null;
  readonly timestamp: string | null;
  /** Guardrails of the call, as a spend row names them. */
  readonly guardrails: readonly JsonObject[];
}

/** One requirement of a regulation, and whether the call meets it. */
interface ComplianceCheck {
  readonly name: string;
  readonly article: string;
  readonly passed: boolean;
  readonly detail: string;
}

const REGULATIONS = { euAiAct: 'EU AI Act', gdpr: 'GDPR' } as const;
export type Regulation = keyof typeof REGULATIONS;

export interface ComplianceReport {
  readonly regulation: string;
  readonly checks: readonly ComplianceCheck[];
}

const PRE_CALL = 'pre_call';
/** States of a guardrail that blocked or changed a call. */
const INTERVENED: ReadonlySet<unknown> = new Set(['guardrail_intervened', 'failed', 'blocked']);
/** State of a guardrail that reported a finding and let the call pass. */
const FLAGGED = 'guardrail_flagged';

/**
 * Whether a guardrail always runs before the call. `mode` is one mode, a list of modes, or an object with a default and
 * with modes by tag of a call. All of them must be `pre_call`. True without a mode.
 */
function isBeforeCall(mode: unknown): boolean {
  if (mode === undefined || mode === null) return true;
  if (typeof mode === 'string') return mode === PRE_CALL;
  if (Array.isArray(mode)) return mode.length > 0 && mode.every((one) => one === PRE_CALL);
  if (typeof mode !== 'object') return false;
  const { default: usual, tags } = mode as { readonly default?: unknown; readonly tags?: unknown };
  const byTag: readonly unknown[] = typeof tags === 'object' && tags !== null ? Object.values(tags) : [];
  return [usual, ...byTag].every((one) => (typeof one === 'string' || Array.isArray(one)) && isBeforeCall(one));
}

/** The guardrails that ran before the call. */
const beforeCall = ({ guardrails }: CallEvidence): readonly JsonObject[] =>
  guardrails.filter(({ guardrail_mode: mode }) => isBeforeCall(mode));

const quantityText = (found: number, what: string): string => `${found} ${what}${found === 1 ? '' : 's'}`;

function guardrailsApplied({ guardrails }: CallEvidence): ComplianceCheck {
  const count = guardrails.length;
  const detail = count > 0 ? `${quantityText(count, 'guardrail')} ran.` : 'No guardrail ran.';
  return { name: 'Guardrails applied', article: 'Art. 9', passed: count > 0, detail };
}

function screenedBeforeCall(call: CallEvidence, named: Pick<ComplianceCheck, 'name' | 'article'>): ComplianceCheck {
  const count = beforeCall(call).length;
  const detail =
    count > 0 ? `${quantityText(count, 'guardrail')} ran before the call.` : 'No guardrail ran before the call.';
  return { ...named, passed: count > 0, detail };
}

function sensitiveDataProtected(call: CallEvidence): ComplianceCheck {
  const named = { name: 'Sensitive data protected', article: 'Art. 5(1)(c)' };
  const states = beforeCall(call).map(({ guardrail_status: state }) => state);
  if (states.some((state) => INTERVENED.has(state)))
    return { ...named, passed: true, detail: 'A guardrail blocked or changed the call.' };
  if (states.length > 0 && states.every((state) => state === 'success'))
    return { ...named, passed: true, detail: 'The guardrails found no sensitive data.' };
  return { ...named, passed: false, detail: unprotectedDetail(states) };
}

function unprotectedDetail(states: readonly unknown[]): string {
  if (states.length === 0) return 'No guardrail ran before the call.';
  const isComplete = states.every((state) => state === 'success' || state === FLAGGED);
  return isComplete
    ? 'A guardrail before the call flagged the call and did not change it.'
    : 'A guardrail before the call gave no result.';
}

function auditRecord({ userId, model, timestamp, guardrails }: CallEvidence, article: string): ComplianceCheck {
  const facts = { user_id: userId, model, timestamp, guardrail_results: guardrails.length > 0 ? 'some' : null };
  const missing = Object.entries(facts).flatMap(([name, value]) => (value === null || value === '' ? [name] : []));
  const detail = missing.length === 0 ? 'Every fact is recorded.' : `Missing: ${missing.join(', ')}`;
  return { name: 'Audit record complete', article, passed: missing.length === 0, detail };
}

const CHECKS: Readonly<Record<Regulation, (call: CallEvidence) => readonly ComplianceCheck[]>> = {
  euAiAct: (call) => [
    guardrailsApplied(call),
    screenedBeforeCall(call, { name: 'Content screened before LLM', article: 'Art. 5' }),
    auditRecord(call, 'Art. 12'),
  ],
  gdpr: (call) => [
    screenedBeforeCall(call, { name: 'Data protection applied', article: 'Art. 32' }),
    sensitiveDataProtected(call),
    auditRecord(call, 'Art. 30'),
  ],
};

/** Checks the record of a call against a regulation. The result is not legal advice. */
export const complianceOf = (regulation: Regulation, call: CallEvidence): ComplianceReport => ({
  regulation: REGULATIONS[regulation],
  checks: CHECKS[regulation](call),
});
