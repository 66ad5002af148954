import type { Clock } from '../../src/domain/clock.ts';
import type { Prompts } from '../../src/domain/prompts/prompt.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';

/** Prompts that calls may name. */
export interface PromptedPlatform {
  readonly prompts: Pick<Prompts, 'list' | 'parsed'>;
}

/** Prompts, and the gateway that tests them. */
export interface PromptPlatform {
  readonly prompts: Prompts;
  readonly gateway: Pick<Gateway, 'call'>;
  readonly clock: Clock;
}
