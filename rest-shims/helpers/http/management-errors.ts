import { type DomainError, Forbidden, InvalidInput, NotFound } from '../../../src/domain/errors.ts';
import { NotPermitted } from '../../../src/domain/teams/permissions.ts';

/** Type and parameter of an error in the OpenAI envelope. */
interface TypeAndParam {
  readonly type: string | null;
  readonly param: string | null;
}

/** Error type of the reference's key routes for most broken rules. */
const BROKEN_RULE: TypeAndParam = { type: 'internal_server_error', param: null };
/** The reference's text for an absent type or parameter. */
const ABSENT = 'None';

/** Values of `field` of errors with the body `{"detail":{"error":…}}`. */
const PLAIN_OBJECTS = new Set(['keys', 'reset_to', 'date_range']);
/** Values of `field` of errors with the body `{"detail":…}`. */
const PLAIN_TEXTS = new Set(['team_id']);
/** Query parameters whose errors have the text `None` as `param`. */
const QUERY_PARAMETERS = new Set(['sort_by', 'sort_order', 'status']);

/** Type and parameter of invalid requests about spend, by the field of the error. */
const SPEND_FAULTS: Readonly<Record<string, TypeAndParam>> = {
  required_dates: { type: 'bad_request', param: ABSENT },
  tag_dates: { type: 'bad_request', param: null },
  log_date: BROKEN_RULE,
  priced_model: { type: null, param: null },
  priced_call: { type: ABSENT, param: ABSENT },
};

/** Type and parameter for a change of a model that is not stored. */
const NOT_STORED: TypeAndParam = { type: 'validation_error', param: null };

/** Missing rights whose errors have the body `{"detail":{"error":…}}`. */
const PLAIN_RIGHTS: ReadonlySet<string> = new Set([
  'key_block',
  'service_account',
  'team_list',
  'team_members',
  'user_list',
]);

/** `detail` of a management error that has no envelope; undefined for an error with an envelope. */
export function plainDetail(error: DomainError | null): unknown {
  if (error instanceof Forbidden && PLAIN_RIGHTS.has(error.right ?? '')) return { error: error.message };
  if (error instanceof Forbidden && error.right === 'gateway_activity') return error.message;
  if (error instanceof NotFound && error.kind === 'priced model') return { error: error.message };
  if (!(error instanceof InvalidInput) || error.field === null) return undefined;
  if (PLAIN_OBJECTS.has(error.field)) return { error: error.message };
  return PLAIN_TEXTS.has(error.field) ? error.message : undefined;
}

/** Whether the error reports a body that is not valid JSON, or nests too deeply. */
export const isInvalidJson = (error: DomainError): boolean =>
  error instanceof InvalidInput && error.issues[0]?.rule === 'json_invalid';

/** Type and parameter of a management error; null when they are those of the proxy surface. */
export function managementTypeAndParam(error: DomainError): TypeAndParam | null {
  if (error instanceof InvalidInput && error.field === null) return BROKEN_RULE;
  if (error instanceof InvalidInput && error.field === 'stored_model') return NOT_STORED;
  const ofSpend = error instanceof InvalidInput ? SPEND_FAULTS[error.field ?? ''] : undefined;
  if (ofSpend !== undefined) return ofSpend;
  if (error instanceof InvalidInput && QUERY_PARAMETERS.has(error.field ?? ''))
    return { ...BROKEN_RULE, param: ABSENT };
  if (error instanceof Forbidden && error.right === 'key_owner') return BROKEN_RULE;
  if (error instanceof Forbidden && error.right === 'key_list') return { type: 'bad_request_error', param: 'user_id' };
  if (error instanceof NotPermitted) return { type: 'team_member_permission_error', param: error.route };
  if (error instanceof NotFound && error.kind === 'team of key') return { type: 'auth_error', param: ABSENT };
  return error instanceof NotFound && error.kind === 'keys' ? BROKEN_RULE : null;
}
