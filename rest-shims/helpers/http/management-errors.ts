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
const PLAIN_OBJECTS = new Set(['keys', 'reset_to', 'date_range', 'mcp_sessions']);
/** Values of `field` of errors with the body `{"detail":…}`. */
const PLAIN_TEXTS = new Set(['team_id']);

const INVALID_QUERY: TypeAndParam = { ...BROKEN_RULE, param: ABSENT };

/** Type and parameter of InvalidInput, by `field` of the error. */
const BY_FIELD: Readonly<Record<string, TypeAndParam>> = {
  // A change of a model that is not stored.
  stored_model: { type: 'validation_error', param: null },
  // Requests about spend.
  required_dates: { type: 'bad_request', param: ABSENT },
  tag_dates: { type: 'bad_request', param: null },
  log_date: BROKEN_RULE,
  priced_model: { type: null, param: null },
  priced_call: { type: ABSENT, param: ABSENT },
  // Query parameters of lists.
  sort_by: INVALID_QUERY,
  sort_order: INVALID_QUERY,
  status: INVALID_QUERY,
};

/** Type and parameter of Forbidden, by the missing right. */
const BY_RIGHT: Readonly<Record<string, TypeAndParam>> = {
  key_owner: BROKEN_RULE,
  auto_router: { type: 'auth_error', param: ABSENT },
  key_list: { type: 'bad_request_error', param: 'user_id' },
};

/** Type and parameter of NotFound, by the kind of the unknown object. */
const BY_KIND: Readonly<Record<string, TypeAndParam>> = {
  'team of key': { type: 'auth_error', param: ABSENT },
  keys: BROKEN_RULE,
};

/** Missing rights whose errors have the body `{"detail":{"error":…}}`. */
const PLAIN_RIGHTS: ReadonlySet<string> = new Set([
  'agent_admin',
  'key_block',
  'mcp_sessions',
  'mcp_admin',
  'service_account',
  'team_list',
  'team_members',
  'user_list',
]);

/** Kinds of unknown objects whose errors have that body. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['priced model', 'adaptive router']);

/** `detail` of a management error that has no envelope; undefined for an error with an envelope. */
export function plainDetail(error: DomainError | null): unknown {
  if (error instanceof Forbidden && PLAIN_RIGHTS.has(error.right ?? '')) return { error: error.message };
  if (error instanceof Forbidden && error.right === 'gateway_activity') return error.message;
  if (error instanceof NotFound && PLAIN_KINDS.has(error.kind)) return { error: error.message };
  if (!(error instanceof InvalidInput) || error.field === null) return undefined;
  if (PLAIN_OBJECTS.has(error.field)) return { error: error.message };
  return PLAIN_TEXTS.has(error.field) ? error.message : undefined;
}

/** Whether the error reports a body that is not valid JSON, or nests too deeply. */
export const isInvalidJson = (error: DomainError): boolean =>
  error instanceof InvalidInput && error.issues[0]?.rule === 'json_invalid';

/** Type and parameter of a management error; null when they are those of the proxy surface. */
export function managementTypeAndParam(error: DomainError): TypeAndParam | null {
  if (error instanceof InvalidInput) return error.field === null ? BROKEN_RULE : (BY_FIELD[error.field] ?? null);
  if (error instanceof NotPermitted) return { type: 'team_member_permission_error', param: error.route };
  if (error instanceof Forbidden) return BY_RIGHT[error.right ?? ''] ?? null;
  return error instanceof NotFound ? (BY_KIND[error.kind] ?? null) : null;
}
