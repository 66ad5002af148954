import type { ProjectStore } from '../../domain/projects/project.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching } from '../database/row-store.ts';
import { ProjectEntity } from './entities.ts';

export const createProjectStore = (database: Database): ProjectStore =>
  createRowStore(database, {
    entity: ProjectEntity,
    noun: 'project',
    audited: 'project',
    where: ({ teamIds, teamId, aliasPart, blocked }) => [
      ...matching({ teamId: teamIds, blocked }),
      // Separate, because one object cannot have two conditions on `teamId`.
      ...matching({ teamId }),
      ...containing('alias', aliasPart),
    ],
    sortColumns: { project_alias: "coalesce(alias, '')" },
    conflictText: ({ id }) => `Project id = ${id} already exists.`,
  });
