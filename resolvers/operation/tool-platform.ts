import type { ToolPolicies } from '../../src/domain/tools/tool-policies.ts';
import type { KeyPlatform } from './platform.ts';
import type { Stores } from './stores.ts';

/** Tools of models, their policies and their use. */
export interface ToolPlatform extends KeyPlatform {
  readonly stores: KeyPlatform['stores'] & Pick<Stores, 'teams' | 'tools' | 'toolOverrides' | 'toolUse'>;
  readonly toolPolicies: Pick<ToolPolicies, 'refresh'>;
}
