/** How a deployment is asked whether it answers, as the configuration has it. */
export interface ProbeSettings {
  /** What kind of model it is; null leaves it to the catalog. */
  readonly mode: string | null;
  /** What a wildcard is asked for; null where nothing is said. */
  readonly model: string | null;
  /** Most tokens of the answer; null where nothing is said. */
  readonly maxTokens: number | null;
  readonly timeoutSeconds: number;
  /** Whether it is left out where all are asked again and again. */
  readonly onDemandOnly: boolean;
}

/** Where the configuration says nothing. */
export const UNTOLD: ProbeSettings = {
  mode: null,
  model: null,
  maxTokens: null,
  timeoutSeconds: 60,
  onDemandOnly: false,
};
