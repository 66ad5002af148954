import { describe, expect, it } from 'vitest';
import { changeOrAdd } from '../../../resolvers/operation/row-pages.ts';
import { Conflict } from '../../../src/domain/errors.ts';

interface Row {
  readonly id: string;
  readonly text: string;
}

const conflict = new Conflict('taken');

/** Changes or adds the row `a` in a store that refuses to add rows. `stored` are the rows that the two changes find. */
function changeOrAddIn(stored: readonly (Row | null)[]): ReturnType<typeof changeOrAdd<Row, unknown, 'created_at'>> {
  const found = [...stored];
  return changeOrAdd<Row, unknown, 'created_at'>(
    {
      async add() {
        throw conflict;
      },
      async change(_id, change) {
        const before = found.shift() ?? null;
        return before === null ? null : { before, after: change(before) };
      },
    },
    { id: 'a', text: 'new' },
    (before) => ({ ...before, text: `${before.text}, changed` }),
  );
}

describe('changeOrAdd', () => {
  it('changes a row that a concurrent request adds', async () => {
    expect(await changeOrAddIn([null, { id: 'a', text: 'other' }])).toEqual({
      row: { id: 'a', text: 'other, changed' },
      isNew: false,
    });
  });

  it('throws the Conflict of the addition when no row has the id afterwards', async () => {
    await expect(changeOrAddIn([null, null])).rejects.toBe(conflict);
  });
});
