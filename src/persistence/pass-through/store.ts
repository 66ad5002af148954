import type { EndpointStore } from '../../domain/pass-through/endpoint.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { PassThroughEndpointEntity } from './entities.ts';

export const createEndpointStore = (database: Database): EndpointStore =>
  createRowStore(database, {
    entity: PassThroughEndpointEntity,
    noun: 'pass-through entry',
    audited: 'pass_through_endpoint',
    conflictText: ({ id }) => `Pass-through endpoint ${id} already exists`,
  });
