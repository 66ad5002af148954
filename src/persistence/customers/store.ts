import type { CustomerStore } from '../../domain/customers/customer.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching } from '../database/row-store.ts';
import { CustomerEntity } from './entities.ts';

export const createCustomerStore = (database: Database): CustomerStore =>
  createRowStore(database, {
    entity: CustomerEntity,
    noun: 'customer',
    audited: 'customer',
    where: ({ ids, idPart, aliasPart, budgetId, blocked }) => [
      ...matching({ id: ids, budgetId, blocked }),
      ...containing('id', idPart),
      ...containing('alias', aliasPart),
    ],
    sortColumns: { user_id: 'id', user_alias: "coalesce(alias, '')" },
    conflictText: ({ id }) => `Customer already exists, passed user_id=${id}. Please pass a new user_id.`,
  });
