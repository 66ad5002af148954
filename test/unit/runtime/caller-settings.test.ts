import { describe, expect, it } from 'vitest';
import { readCallers } from '../../../src/runtime/settings/callers.ts';
import type { ConfigFault } from '../../../src/runtime/settings/config-file.ts';

function read(env: Record<string, string>, section: Parameters<typeof readCallers>[1] = {}) {
  const faults: ConfigFault[] = [];
  const settings = readCallers(env, section, (fault) => faults.push(fault));
  return { settings, faults };
}

describe('settings about callers', () => {
  it('have defaults', () => {
    expect(read({})).toEqual({
      settings: { clientCredentials: false, allowedHosts: [], exposeApiBase: true },
      faults: [],
    });
  });

  it('take the environment before the file', () => {
    const general = { allow_client_side_credentials: true, expose_api_base_header: true };
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'False' }, { general })).toEqual({
      settings: { clientCredentials: true, allowedHosts: [], exposeApiBase: false },
      faults: [],
    });
    const hidden = { expose_api_base_header: false };
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: '' }, { general: hidden }).settings.exposeApiBase).toBe(false);
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'true' }, { general: hidden }).settings.exposeApiBase).toBe(true);
  });

  it('take allowed hosts from the environment before the file', () => {
    const shared = { user_url_allowed_hosts: ['gpu.internal'] };
    expect(read({}, { shared }).settings.allowedHosts).toEqual(['gpu.internal']);
    const { settings, faults } = read(
      { LENSGATE_USER_URL_ALLOWED_HOSTS: ' 10.0.0.0/8, gpu:8000 ,,no/host' },
      { shared },
    );
    expect(settings.allowedHosts).toEqual(['10.0.0.0/8', 'gpu:8000', 'no/host']);
    expect(faults).toEqual([
      {
        source: 'environment',
        line: null,
        key: 'LENSGATE_USER_URL_ALLOWED_HOSTS',
        message: '"no/host" is neither a host, a host and port, an IP address nor a block such as 10.0.0.0/8',
      },
    ]);
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
