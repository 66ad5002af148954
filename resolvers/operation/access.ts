import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden, Unauthenticated } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';

/** Access rule of operations. Its name and description form the table in `test/house/access.md`. */
export interface Access {
  readonly name: string;
  readonly description: string;
  /**
   * Throws Forbidden for a caller without the right, and Unauthenticated where a credential is required and none was
   * sent (null).
   */
  readonly check: (caller: Caller | null) => void;
  /** Whether tracing keys, which may only send traces, have this right. Absent: they do not. */
  readonly admitsTraceSenders?: true;
}

export const isAdmin = (caller: Caller): boolean => caller.role === 'proxy_admin';

/** Whether a caller sees everything: a proxy administrator with full or read-only access. */
export const isAnyAdmin = (caller: Caller): boolean => isAdmin(caller) || caller.role === 'proxy_admin_viewer';

/** The caller. Throws Unauthenticated when no credential was sent. */
export function requireCaller(caller: Caller | null): Caller {
  if (caller !== null) return caller;
  throw new Unauthenticated('A key is needed: send it as `Authorization: Bearer sk-...`.', 'missing');
}

/** Everyone, without a credential. */
export const anyone: Access = { name: 'anyone', description: 'Everyone, without a credential.', check: () => {} };

/** Every valid credential. */
export const anyKey: Access = {
  name: 'anyKey',
  description: 'Every virtual key and the admin key.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential. The operation checks which keys the caller may see. */
export const keyReader: Access = {
  name: 'keyReader',
  description:
    'Every key. Admins see all keys. Another key may see itself, the keys of its user, and keys of teams that its user administers or that permit it.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Proxy administrators with full access. */
export const admin: Access = {
  name: 'admin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw new Forbidden('Only proxy admins can do this.', 'proxy_admin');
  },
};

export const isReadOnly = ({ role }: Caller): boolean =>
  role === 'proxy_admin_viewer' || role === 'internal_user_viewer';

/** Proxy administrators, and keys of users that are not read-only. */
export const isAdminOrUser = (caller: Caller): boolean =>
  isAdmin(caller) || (!isReadOnly(caller) && nullIfBlank(caller.userId) !== null);

/** Error for a caller who may not manage keys. The `right` of the error is `viewer`, `key_admin` or `proxy_admin`. */
function keyRefusal(caller: Caller): Forbidden {
  if (isReadOnly(caller)) return new Forbidden('Only proxy admins can do this.', 'viewer');
  if (nullIfBlank(caller.userId) !== null) return new Forbidden('Only proxy admins can do this.', 'key_admin');
  return new Forbidden(
    `Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=unknown.`,
    'proxy_admin',
    { hasWordsOfReference: true },
  );
}

function checkKeyRights(caller: Caller | null): void {
  if (!isAdminOrUser(requireCaller(caller))) throw keyRefusal(requireCaller(caller));
}

/** Proxy administrators for every key; users for their own keys and keys of teams. The operation checks which keys. */
export const keyMaker: Access = {
  name: 'keyMaker',
  description:
    'Proxy administrators; keys of an `internal_user` for keys of the same user, of teams and organizations that it administers, and of teams that permit it.',
  check: checkKeyRights,
};

/**
 * Proxy administrators for every key; users for keys of teams, and to rotate their own keys. The operation checks which
 * keys.
 */
export const keyManager: Access = {
  name: 'keyManager',
  description:
    'Proxy administrators; keys of an `internal_user` for keys of teams and organizations that it administers, and for its own keys of teams that permit it. It may also rotate its own keys without a team.',
  check: checkKeyRights,
};

/** Proxy administrators, for models. */
export const modelAdmin: Access = {
  name: 'modelAdmin',
  description: 'Proxy administrators, for models, their access groups and fallbacks.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw refuseModels();
  },
};

export const refuseModels = (): Forbidden => new Forbidden('Only proxy admins can change models.', 'model_admin');

/** Administrators of teams for the models of their team. The operation checks which team it is. */
export const modelManager: Access = {
  name: 'modelManager',
  description: 'Proxy administrators; keys of users for the models of teams that the user administers.',
  check(caller) {
    if (!isAdminOrUser(requireCaller(caller))) throw refuseModels();
  },
};

/** Proxy administrators, for keys. */
export const keyAdmin: Access = {
  name: 'keyAdmin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw keyRefusal(requireCaller(caller));
  },
};

/** As `keyManager`, for blocking and unblocking keys. */
export const keyBlocker: Access = {
  ...keyManager,
  name: 'keyBlocker',
  description:
    'Proxy administrators; keys of an `internal_user` for keys of teams and organizations that it administers, and for its own keys of teams that permit it.',
};

/**
 * Error for a caller who may not manage users and teams. The `right` of the error selects the HTTP status, as in
 * LiteLLM.
 */
export function refuseManagement(caller: Caller): Forbidden {
  if (caller.role === 'proxy_admin_viewer')
    return new Forbidden(`user not allowed to access this route, role= ${caller.role}.`, 'viewer', {
      hasWordsOfReference: true,
    });
  return new Forbidden(
    `Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=${caller.role}.`,
    'proxy_admin',
    { hasWordsOfReference: true },
  );
}

/** Proxy administrators, for users, teams and what belongs to them. */
export const tenantAdmin: Access = {
  name: 'tenantAdmin',
  description: 'Proxy administrators, for users, teams and what belongs to them.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw refuseManagement(requireCaller(caller));
  },
};

/** Administrators of teams and organizations. The operation checks which team or organization it is. */
export const teamManager: Access = {
  name: 'teamManager',
  description: 'Proxy administrators; keys of users for the teams and organizations that the user administers.',
  check(caller) {
    if (!isAdminOrUser(requireCaller(caller))) throw refuseManagement(requireCaller(caller));
  },
};

/** Every credential. The operation checks which rows the caller may see. */
export const teamReader: Access = {
  name: 'teamReader',
  description:
    'Every key. Admins see all users, teams and organizations. Another key sees its user and team, the organizations of its user, and the teams that its user joined or administers.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Proxy administrators; users for some fields of their own row. */
export const userEditor: Access = {
  name: 'userEditor',
  description: 'Proxy administrators; keys of an `internal_user` for the alias, email and metadata of the same user.',
  check(caller) {
    if (!isAdminOrUser(requireCaller(caller))) throw refuseManagement(requireCaller(caller));
  },
};

/** Proxy administrators with full or read-only access, for users, teams and what belongs to them. */
export const tenantViewer: Access = {
  name: 'tenantViewer',
  description: 'Proxy administrators with full or read-only access, for users, teams and what belongs to them.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller))) throw refuseManagement(requireCaller(caller));
  },
};

/** Proxy administrators, for pass-through endpoints. */
export const endpointAdmin: Access = {
  name: 'endpointAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for pass-through endpoints. */
export const endpointViewer: Access = {
  name: 'endpointViewer',
  description: 'Proxy administrators with full or read-only access. Credentials in headers are masked.',
  check: tenantViewer.check,
};

/** Proxy administrators, for guardrails. */
export const guardrailAdmin: Access = {
  name: 'guardrailAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for guardrails. */
export const guardrailViewer: Access = {
  name: 'guardrailViewer',
  description: 'Proxy administrators with full or read-only access. Secrets in parameters are redacted.',
  check: tenantViewer.check,
};

/** Proxy administrators, for agents. */
export const agentAdmin: Access = {
  name: 'agentAdmin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw new Forbidden('Only proxy admins can manage agents.', 'agent_admin');
  },
};

/** Administrators with full or read-only access, for request counts of all callers. */
export const gatewayActivityReader: Access = {
  name: 'gatewayActivityReader',
  description: 'Proxy administrators with full or read-only access.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy administrators can see the counts of the whole deployment.', 'gateway_activity');
  },
};

/** Proxy administrators with full or read-only access. */
export const anyAdmin: Access = {
  name: 'anyAdmin',
  description: 'Proxy administrators with full or read-only access.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy admins can see this.', 'proxy_admin_viewer');
  },
};

/** Every credential; the store filters rows by visibility. */
export const traceReader: Access = {
  name: 'traceReader',
  description:
    'Every key. Admins see all traces. A key of a team sees the traces of the team. Another key sees its own traces.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential except those of read-only administrators. */
export const traceWriter: Access = {
  name: 'traceWriter',
  admitsTraceSenders: true,
  description: 'Every key, and tracing keys. Not keys of read-only administrators.',
  check(caller) {
    const { role } = requireCaller(caller);
    if (role === 'proxy_admin_viewer')
      throw new Forbidden('Read-only administrators cannot ingest traces.', 'proxy_admin');
  },
};

/** Every credential that may write, for the traces it may see. */
export const annotator: Access = {
  name: 'annotator',
  description: 'Every key that is not read-only, for the traces it may see.',
  check(caller) {
    if (isReadOnly(requireCaller(caller))) throw new Forbidden('Read-only keys cannot annotate traces.', 'proxy_admin');
  },
};

/** Every credential that may write, for its own traces; administrators for all. */
export const traceEraser: Access = {
  name: 'traceEraser',
  description: 'Every key that is not read-only, for the traces it sent itself; proxy administrators for all.',
  check(caller) {
    if (isReadOnly(requireCaller(caller)))
      throw new Forbidden('Read-only keys cannot remove or redact traces.', 'proxy_admin');
  },
};

/** Every credential; files, batches, responses and videos are filtered by the visibility of their owners. */
export const objectReader: Access = {
  name: 'objectReader',
  description:
    'Every key. Admins see all files, batches, responses and videos. A key of a team sees those of the team. Another key sees its own.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential that is not read-only. */
export const objectWriter: Access = {
  name: 'objectWriter',
  description: 'Every key that is not read-only, for the files, batches, responses and videos it may see.',
  check(caller) {
    const { role } = requireCaller(caller);
    const objects = 'files, batches, responses and videos';
    if (role === 'proxy_admin_viewer')
      throw new Forbidden(`Read-only administrators cannot change ${objects}.`, 'proxy_admin');
    if (role === 'internal_user_viewer')
      throw new Forbidden(`Read-only keys cannot change ${objects}.`, 'internal_user');
  },
};

export const codingAgentReader: Access = {
  name: 'codingAgentReader',
  description:
    'Every key. Admins see all coding agents. A key of a team sees those of the team. Another key sees its own.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential that is not read-only. */
export const codingAgentWriter: Access = {
  name: 'codingAgentWriter',
  description: 'Every key that is not read-only, for the coding agents it may see.',
  check(caller) {
    if (isReadOnly(requireCaller(caller)))
      throw new Forbidden('Read-only keys cannot change coding agents.', 'internal_user');
  },
};

/** Background work only: no credential has this right, not even that of an administrator. */
export const system: Access = {
  name: 'system',
  description: 'The process itself, for background work.',
  check(caller) {
    if (!(requireCaller(caller) instanceof SystemCaller)) throw new Forbidden('Only the process itself can do this.');
  },
};
