import {
  ALL_SESSIONS,
  type CommandLineSession,
  sessionUserOf,
} from '../src/domain/command-line-sessions/command-line-session.ts';
import { NotFound } from '../src/domain/errors.ts';
import { isAdmin, isAnyAdmin } from './operation/access.ts';
import { commandLineSessionReader, commandLineSessionEnder } from './operation/command-line-session-access.ts';
import { endSessions } from './operation/command-line-tokens.ts';
import { callerOf, operation } from './operation/operation.ts';
import { type FoundPage, pageOf, type RequestedPage } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import type { SignInPlatform } from './operation/sign-in-platform.ts';

type SignInScope = Scope<SignInPlatform>;

/** A page of the sessions that the caller may see, without expired ones. `userId` null: of all these users. */
export const listCommandLineSessions = operation({
  name: 'listCommandLineSessions',
  access: commandLineSessionReader,
  async run(
    scope: SignInScope,
    { userId, page }: { readonly userId: string | null; readonly page: RequestedPage },
  ): Promise<FoundPage<CommandLineSession>> {
    const caller = callerOf(scope);
    const own = sessionUserOf(caller);
    const shown = isAnyAdmin(caller) ? userId : own;
    const isHidden = !isAnyAdmin(caller) && (own === null || (userId !== null && userId !== own));
    if (isHidden) return { nodes: [], totalCount: 0, hasMore: false };
    const { stores, clock } = scope.platform;
    const filter = { ...ALL_SESSIONS, userId: shown, validAt: clock.now() };
    return pageOf(stores.commandLineSessions, filter, page);
  },
});

/** Sessions by their ids that the caller may see, in no particular order. */
export const getCommandLineSessions = operation({
  name: 'getCommandLineSessions',
  access: commandLineSessionReader,
  async run(scope: SignInScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly CommandLineSession[]> {
    const caller = callerOf(scope);
    const found = await scope.platform.stores.commandLineSessions.findMany(ids);
    return found.filter(({ userId }) => isAnyAdmin(caller) || userId === sessionUserOf(caller));
  },
});

/** Ends a session with its keys. Throws NotFound, also for a session that the caller may not end. */
export const revokeCommandLineSession = operation({
  name: 'revokeCommandLineSession',
  access: commandLineSessionEnder,
  async run(scope: SignInScope, { id }: { readonly id: string }): Promise<CommandLineSession> {
    const caller = callerOf(scope);
    const session = await scope.platform.stores.commandLineSessions.find(id);
    const mayEnd = session !== null && (isAdmin(caller) || session.userId === sessionUserOf(caller));
    const [ended] = mayEnd ? await endSessions(scope, [session]) : [];
    if (ended === undefined) throw new NotFound('command line session', id, 'Command line session not found');
    return ended;
  },
});
