import type { Kind } from './kinds.ts';

/** One row of the table of settings. */
export interface Setting<Value = unknown, Default = unknown> {
  readonly kind: Kind<Value>;
  /** Value when nothing sets it; null for none. */
  readonly default: Default;
  /** Text for the default in the documentation, where the value does not explain itself. */
  readonly defaultText?: string;
  /** Command-line argument, e.g. `--port`. It wins over everything else. */
  readonly argument?: string;
  /** Environment variables; the first that is set wins. An empty variable counts as not set. */
  readonly env?: readonly string[];
  /** Dotted path in the configuration file. */
  readonly file?: string;
  /** Whether the file wins over the environment. */
  readonly filePrecedesEnvironment?: boolean;
  readonly unit?: string;
  readonly description: string;
  /** Version that introduced the setting; absent for the first version. */
  readonly since?: string;
  /** Program that reads the variable itself, for example Node. Lensgate only documents such a row. */
  readonly readBy?: string;
}

/** A titled group of rows. */
export interface SettingGroup {
  readonly title: string;
  readonly note?: string;
  readonly settings: Readonly<Record<string, Setting>>;
}

/** A row whose types are inferred from its values. */
export const setting = <Value, const Default extends Value | null>(
  row: Setting<Value, Default>,
): Setting<Value, Default> => row;

/** The value that a row yields. */
export type ValueOf<Row> = Row extends Setting<infer Value, infer Default> ? Value | Widened<Default> : never;

/** Null for a default of null. Other defaults are values of the kind. */
type Widened<Default> = Default extends null ? null : never;
