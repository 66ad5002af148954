import { z } from 'zod';
import type { ConfigFault } from './config-file.ts';

/** What callers may choose themselves, and what they are shown of upstreams. */
export interface CallerSettings {
  /** Callers may send a key and an address of their own, to every deployment. */
  readonly clientCredentials: boolean;
  /** Answers name the base address of the upstream to every caller, not to administrators only. */
  readonly exposeApiBase: boolean;
}

/** Members of `general_settings`. */
export const callerFields = {
  allow_client_side_credentials: z.boolean().optional(),
  expose_api_base_header: z.boolean().optional(),
};

/** What the file sets; a member is undefined where the file is silent. */
export interface CallerSection {
  readonly general?: z.infer<z.ZodObject<typeof callerFields>> | undefined;
}

const EXPOSE_VARIABLE = 'LENSGATE_EXPOSE_API_BASE_HEADER';

/** Reads the settings; the environment wins over the file. `fault` is called for each value that cannot be used. */
export function readCallers(
  env: NodeJS.ProcessEnv,
  { general }: CallerSection,
  fault: (fault: ConfigFault) => void,
): CallerSettings {
  return {
    clientCredentials: general?.allow_client_side_credentials ?? false,
    exposeApiBase: flagIn(env, EXPOSE_VARIABLE, fault) ?? general?.expose_api_base_header ?? true,
  };
}

/** `true` or `false`; null when unset. */
function flagIn(env: NodeJS.ProcessEnv, key: string, fault: (fault: ConfigFault) => void): boolean | null {
  const value = env[key] ?? '';
  if (value === '') return null;
  if (!/^(true|false)$/i.test(value))
    fault({ source: 'environment', line: null, key, message: `"${value}" is neither true nor false` });
  return value.toLowerCase() === 'true';
}
