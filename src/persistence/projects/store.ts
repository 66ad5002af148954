import type { ProjectStore } from '../../domain/projects/project.ts';
import type { Database } from '../database/database.ts';
import { among, createRowStore } from '../database/row-store.ts';
import { ProjectEntity } from './entities/project.ts';

export const createProjectStore = (database: Database): ProjectStore =>
  createRowStore(database, {
    entity: ProjectEntity,
    noun: 'project',
    audited: 'project',
    where: ({ teamIds }) => among('teamId', teamIds),
    ranks: { created_at: 'created_at' },
    taken: ({ id }) => `Project id = ${id} already exists.`,
  });
