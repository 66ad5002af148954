import type { ProjectStore } from '../../domain/projects/project.ts';
import type { Database } from '../database/database.ts';
import { among, containing, createRowStore, equal, flagged } from '../database/row-store.ts';
import { ProjectEntity } from './entities/project.ts';

export const createProjectStore = (database: Database): ProjectStore =>
  createRowStore(database, {
    entity: ProjectEntity,
    noun: 'project',
    audited: 'project',
    where: ({ teamIds, teamId, aliasPart, blocked }) => [
      ...among('teamId', teamIds),
      ...equal('teamId', teamId),
      ...containing('alias', aliasPart),
      ...flagged('blocked', blocked),
    ],
    ranks: { project_alias: "coalesce(alias, '')" },
    conflictText: ({ id }) => `Project id = ${id} already exists.`,
  });
