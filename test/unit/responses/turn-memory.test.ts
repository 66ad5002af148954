import { describe, expect, it } from 'vitest';
import { createTurnMemories, type UnstoredTurn } from '../../../src/domain/responses/turn-memory.ts';

const turn = (id: string, text = 'x', previousStoredId: string | null = null): UnstoredTurn => ({
  id,
  previousStoredId,
  items: [{ role: 'user', content: text }],
});

describe('the memory of a connection', () => {
  it('contains the latest response of each lane, readable from all lanes', () => {
    const memory = createTurnMemories().open();
    memory.put('a', turn('one', 'é'));
    memory.put('b', turn('two', 'x', 'kept'));
    expect([memory.find('one'), memory.find('two'), memory.find('three')]).toEqual([
      turn('one', 'é'),
      turn('two', 'x', 'kept'),
      null,
    ]);
    memory.put('a', turn('three'));
    expect([memory.find('one'), memory.find('three')]).toEqual([null, turn('three')]);
    memory.evict('b');
    expect(memory.find('two')).toBeNull();
  });

  it('is separate from the memories of other connections', () => {
    const memories = createTurnMemories();
    const [memoryA, memoryB] = [memories.open(), memories.open()];
    memoryA.put('', turn('one'));
    expect(memoryB.find('one')).toBeNull();
    memoryB.put('', turn('one', 'other'));
    memoryA.close();
    expect([memoryA.find('one'), memoryB.find('one')]).toEqual([null, turn('one', 'other')]);
  });

  it('drops a response when its own lane fails to continue it', () => {
    const memory = createTurnMemories().open();
    memory.put('a', turn('one'));
    memory.failed('b', 'one');
    memory.failed('a', 'other');
    expect(memory.find('one')).toEqual(turn('one'));
    memory.failed('a', 'one');
    expect(memory.find('one')).toBeNull();
  });

  it('is bounded: the oldest response is evicted first, and a too large one is not stored', () => {
    // Two characters of an id and 33 of the items as JSON, at two bytes each: 70 bytes.
    const memory = createTurnMemories({ connection: 150, process: 1_000 }).open();
    memory.put('a', turn('t1', 'xxx'));
    memory.put('b', turn('t2', 'xxx'));
    memory.put('a', turn('t3', 'xxx'));
    memory.put('c', turn('t4', 'xxx'));
    const ids = () => ['t1', 't2', 't3', 't4', 't5', 't6'].filter((id) => memory.find(id) !== null);
    expect(ids()).toEqual(['t3', 't4']);
    memory.put('a', turn('t5', 'x'.repeat(200)));
    expect(ids()).toEqual(['t4']);
    memory.put('b', turn('t6', 'xxx'));
    expect(ids()).toEqual(['t4', 't6']);
  });

  it('is also bounded for all connections together, and is freed when a connection closes', () => {
    const memories = createTurnMemories({ connection: 150, process: 150 });
    const [memory1, memory2, memory3] = [memories.open(), memories.open(), memories.open()];
    memory1.put('', turn('t1', 'xxx'));
    memory2.put('', turn('t2', 'xxx'));
    memory3.put('', turn('t3', 'xxx'));
    expect([memory1.find('t1'), memory2.find('t2'), memory3.find('t3')]).toEqual([
      null,
      turn('t2', 'xxx'),
      turn('t3', 'xxx'),
    ]);
    memory3.close();
    memory1.put('', turn('t1', 'xxx'));
    expect([memory1.find('t1'), memory2.find('t2')]).toEqual([turn('t1', 'xxx'), turn('t2', 'xxx')]);
  });
});
