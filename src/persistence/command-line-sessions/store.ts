import type { CommandLineSessionStore } from '../../domain/command-line-sessions/command-line-session.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching, until } from '../database/row-store.ts';
import { CommandLineSessionEntity } from './entities.ts';

export const createCommandLineSessionStore = (database: Database): CommandLineSessionStore =>
  createRowStore(database, {
    entity: CommandLineSessionEntity,
    noun: 'command line session',
    audited: 'command_line_session',
    where: ({ expiredAt, ...members }) => [...matching(members), ...until('expiresAt', expiredAt ?? undefined)],
    conflictText: () => 'This sign-in was completed by another request.',
  });
