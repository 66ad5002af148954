import type { SettingValues } from './table.ts';

/** Optimized parts of the stores. False replaces a part by a simple implementation. */
export interface StoreSwitches {
  /** Writes calls to a log that is unfolded later. */
  readonly callLog: boolean;
  /** Stores the first spans of small traces in blocks. */
  readonly spanBlocks: boolean;
  /** Counts the calls of large traces by notes. */
  readonly callNotes: boolean;
  /** Reads wide rows of SQLite as one text each. */
  readonly packedRows: boolean;
}

export const storeSwitchesOf = (values: SettingValues): StoreSwitches => ({
  callLog: values.callLog === 'on',
  spanBlocks: values.spanBlocks === 'on',
  callNotes: values.callNotes === 'on',
  packedRows: values.packedRows === 'on',
});
