import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { Forbidden } from '../../../src/domain/errors.ts';
import { WITHOUT_CUSTOMER } from '../../../src/domain/object-permissions/permission-layers.ts';
import {
  assertMayUseIndex,
  type IndexPermission,
  isIndexListedFor,
  mayUseIndex,
} from '../../../src/domain/vector-store-indexes/index-rights.ts';
import { newVectorStoreIndex } from '../../../src/domain/vector-store-indexes/vector-store-index.ts';

const INDEX = newVectorStoreIndex(
  { id: 'i', name: 'handbook', storeId: 'vs_1', accountName: 'account', info: null },
  { now: new Date(0), by: 'admin' },
);

const grant = (allowed: unknown) => ({ allowed_vector_store_indexes: allowed });
const reads = grant([{ index_name: 'handbook', index_permissions: ['read'] }]);
const writes = grant([{ index_name: 'handbook', index_permissions: ['write'] }]);

const caller = (metadata: object, { team = {}, role = 'internal_user' } = {}): Caller =>
  ({ role, key: { metadata, settings: {}, owners: { team: { metadata: team } } } }) as unknown as Caller;

/** What a caller may do with the index. */
const permitted = (one: Caller): readonly IndexPermission[] =>
  (['read', 'write'] as const).filter((permission) => mayUseIndex(one, INDEX, permission, WITHOUT_CUSTOMER));

describe('the right to an index', () => {
  it('is that of the key or of its team', () => {
    expect(permitted(caller({}))).toEqual([]);
    expect(permitted(caller(reads))).toEqual(['read']);
    expect(permitted(caller(writes))).toEqual(['write']);
    expect(permitted(caller({}, { team: reads }))).toEqual(['read']);
    expect(permitted(caller(writes, { team: reads }))).toEqual(['read', 'write']);
  });

  it('is that of administrators, and reading also that of administrators that may only read', () => {
    expect(permitted(caller({}, { role: 'proxy_admin' }))).toEqual(['read', 'write']);
    expect(permitted(caller({}, { role: 'proxy_admin_viewer' }))).toEqual(['read']);
    expect(permitted({ role: 'internal_user', key: null } as unknown as Caller)).toEqual([]);
  });

  it.each([
    null,
    'handbook',
    { index_name: 'handbook', index_permissions: ['read'] },
    ['handbook', null],
    [{ index_name: 'handbook' }],
    [{ index_name: 'handbook', index_permissions: 'read' }],
    [{ index_name: 'Handbook', index_permissions: ['read'] }],
    [{ index_name: 'handbook', index_permissions: ['READ', ['read']] }],
  ])('is not given by %j', (allowed) => {
    expect(permitted(caller(grant(allowed)))).toEqual([]);
  });

  it('is shown by lists, and its absence is an error', () => {
    expect([caller(reads), caller(writes), caller({})].map((one) => isIndexListedFor(one, INDEX))).toEqual([
      true,
      false,
      false,
    ]);
    expect(() => assertMayUseIndex(caller(reads), INDEX, 'read')).not.toThrow();
    expect(() => assertMayUseIndex(caller(reads), INDEX, 'write')).toThrow(Forbidden);
  });
});
