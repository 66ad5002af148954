import { describe, expect, it } from 'vitest';
import { readCallers } from '../../../src/runtime/caller-settings.ts';
import type { ConfigFault } from '../../../src/runtime/config-file.ts';

function read(env: Record<string, string>, section: Parameters<typeof readCallers>[1] = {}) {
  const faults: ConfigFault[] = [];
  const settings = readCallers(env, section, (fault) => faults.push(fault));
  return { settings, faults };
}

describe('settings about callers', () => {
  it('have defaults', () => {
    expect(read({})).toEqual({ settings: { clientCredentials: false, exposeApiBase: true }, faults: [] });
  });

  it('take the environment before the file', () => {
    const general = { allow_client_side_credentials: true, expose_api_base_header: true };
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'False' }, { general })).toEqual({
      settings: { clientCredentials: true, exposeApiBase: false },
      faults: [],
    });
    const hidden = { expose_api_base_header: false };
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: '' }, { general: hidden }).settings.exposeApiBase).toBe(false);
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'true' }, { general: hidden }).settings.exposeApiBase).toBe(true);
  });

  it('refuse a value that is neither true nor false', () => {
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'no' }).faults).toEqual([
      {
        source: 'environment',
        line: null,
        key: 'LENSGATE_EXPOSE_API_BASE_HEADER',
        message: '"no" is neither true nor false',
      },
    ]);
  });
});
