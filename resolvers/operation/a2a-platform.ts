import type { A2aAgents, KillSwitches } from '../../src/domain/a2a-agents/agents.ts';
import type { AgentSessions } from '../../src/domain/a2a-agents/sessions.ts';
import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';
import type { ForwardGateway } from '../../src/gateway/gateway.ts';
import type { ObjectRightsPlatform } from './object-rights-platform.ts';
import type { KeyPlatform } from './platform.ts';

/** Agents that are called by the A2A protocol. */
export interface A2aPlatform extends ObjectRightsPlatform {
  readonly stores: Pick<KeyPlatform['stores'], 'spend'>;
  readonly a2aAgents: A2aAgents;
  readonly agentSessions: AgentSessions;
  readonly killSwitches: KillSwitches;
  readonly passThrough: Pick<PassThroughEndpoints, 'timeoutSeconds'>;
  readonly gateway: ForwardGateway;
  readonly configuration: Configuration;
  /** Base address of this process, without a trailing slash. */
  publicUrl(): string;
  readonly clock: Clock;
  readonly ids: Ids;
}
