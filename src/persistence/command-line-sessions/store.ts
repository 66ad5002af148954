import type { CommandLineSessionStore } from '../../domain/command-line-sessions/command-line-session.ts';
import { storable, storableTime } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching, until } from '../database/row-store.ts';
import { CommandLineSessionEntity } from './entities.ts';

export const createCommandLineSessionStore = (database: Database): CommandLineSessionStore =>
  createRowStore(database, {
    entity: CommandLineSessionEntity,
    noun: 'command line session',
    audited: 'command_line_session',
    where: ({ expiredAt, validAt, keyHash, ...members }) => [
      ...matching(members),
      ...(keyHash === null ? [] : [{ $or: [{ keyHash: storable(keyHash) }, { previousKeyHash: storable(keyHash) }] }]),
      ...until('expiresAt', expiredAt ?? undefined),
      ...(validAt === null ? [] : [{ expiresAt: { $gt: storableTime(validAt) } }]),
    ],
    conflictText: () => 'This sign-in was completed by another request.',
  });
