import type { CustomerStore } from '../../domain/customers/customer.ts';
import type { Database } from '../database/database.ts';
import { among, createRowStore } from '../database/row-store.ts';
import { CustomerEntity } from './entities/customer.ts';

export const createCustomerStore = (database: Database): CustomerStore =>
  createRowStore(database, {
    entity: CustomerEntity,
    noun: 'customer',
    audited: 'customer',
    where: ({ ids }) => among('id', ids),
    ranks: { created_at: 'created_at' },
    taken: ({ id }) => `Customer already exists, passed user_id=${id}. Please pass a new user_id.`,
  });
