/** One wrong value of the configuration, and its place. */
export interface ConfigFault {
  /** File, or kind of source: `environment`, `arguments`. */
  readonly source: string;
  /** 1-based line in a file; null elsewhere. */
  readonly line: number | null;
  /** Variable, argument or dotted path of the setting, e.g. `model_list.0.litellm_params.model`. */
  readonly key: string;
  readonly message: string;
}

/** The configuration cannot be used. Holds all faults. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(faultText).join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** `file:line: key: message`. */
export const faultText = ({ source, line, key, message }: ConfigFault): string =>
  `${source}${line === null ? '' : `:${line}`}: ${key === '' ? '' : `${key}: `}${message}`;

/** Faults grouped by source, and sorted by line. */
export const sortedFaults = (faults: readonly ConfigFault[]): readonly ConfigFault[] =>
  [...Map.groupBy(faults, ({ source }) => source).values()].flatMap((ofOne) =>
    ofOne.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0)),
  );
