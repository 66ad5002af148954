import type { JsonObject } from '../../domain/json-object.ts';
import type { ToolOverrideStore, ToolStore } from '../../domain/tools/tool.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching } from '../database/row-store.ts';
import { ToolEntity, ToolOverrideEntity } from './entities.ts';

/** Condition that a tool has other policies than the default ones. */
const RESTRICTED: JsonObject = { $or: [{ inputPolicy: { $ne: 'untrusted' } }, { outputPolicy: { $ne: 'untrusted' } }] };

export const createToolStore = (database: Database): ToolStore =>
  createRowStore(database, {
    entity: ToolEntity,
    noun: 'tool',
    audited: 'tool',
    where: ({ name, nameContains, inputPolicy, isRestricted }) => [
      ...matching({ name, inputPolicy }),
      ...containing('name', nameContains),
      ...(isRestricted === true ? [RESTRICTED] : []),
      ...(isRestricted === false ? [{ inputPolicy: 'untrusted', outputPolicy: 'untrusted' }] : []),
    ],
    sortColumns: { name: 'name', call_count: 'call_count' },
    numbers: ['call_count'],
    conflictText: ({ name }) => `Tool '${name}' already exists`,
  });

export const createToolOverrideStore = (database: Database): ToolOverrideStore =>
  createRowStore(database, {
    entity: ToolOverrideEntity,
    noun: 'tool override',
    audited: 'tool_override',
    where: ({ toolName, scope }) => matching({ toolName, scope }),
    conflictText: ({ toolName }) => `Tool '${toolName}' already has this override`,
  });
