import { describe, expect, it } from 'vitest';
import { toolsWithStores, withIndexName } from '../../../src/domain/vector-store-indexes/named-indexes.ts';

const storeIdOf = (name: string): string | null => (name === 'handbook' ? 'vs_1' : null);
const search = (...ids: readonly unknown[]) => ({ type: 'file_search', vector_store_ids: ids, max_num_results: 3 });

describe('toolsWithStores', () => {
  it('replaces names of indexes, and keeps everything else', () => {
    const tools = [search('handbook', 'vs_2', 1, 'handbook'), { type: 'function', name: 'handbook' }, null, 'handbook'];
    expect(toolsWithStores(tools, storeIdOf)).toEqual([search('vs_1', 'vs_2', 1, 'vs_1'), ...tools.slice(1)]);
  });

  it.each([undefined, null, 'handbook', {}, [], [search('vs_2')], [{ vector_store_ids: 'handbook' }]])(
    'is null for %j, which names no index',
    (tools) => {
      expect(toolsWithStores(tools, storeIdOf)).toBeNull();
    },
  );
});

describe('withIndexName', () => {
  it('replaces the id of the store in an object and in the items of a list', () => {
    const file = (id: string) => ({ id: 'file-1', vector_store_id: id, text: 'vs_1' });
    expect(withIndexName({ id: 'vs_1', object: 'vector_store' }, 'vs_1', 'handbook')).toEqual({
      id: 'handbook',
      object: 'vector_store',
    });
    expect(withIndexName({ data: [file('vs_1'), file('vs_2'), 'vs_1'] }, 'vs_1', 'handbook')).toEqual({
      data: [file('handbook'), file('vs_2'), 'vs_1'],
    });
  });
});
