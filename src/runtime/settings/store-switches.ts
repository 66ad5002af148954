import type { SettingValues } from './table.ts';

/** Which optimized parts of the stores are used. False uses a simple implementation of the part. */
export interface StoreSwitches {
  /** Whether calls are written to a log that is unfolded later. */
  readonly callLog: boolean;
  /** Whether the first spans of small traces are stored in blocks. */
  readonly spanBlocks: boolean;
  /** Whether the calls of large traces are counted with stored notes (`src/persistence/call-notes`). */
  readonly callNotes: boolean;
  /** Whether wide rows of SQLite are read as one text each. */
  readonly packedRows: boolean;
}

export const storeSwitchesOf = (values: SettingValues): StoreSwitches => ({
  callLog: values.callLog === 'on',
  spanBlocks: values.spanBlocks === 'on',
  callNotes: values.callNotes === 'on',
  packedRows: values.packedRows === 'on',
});
