import { describe, expect, it } from 'vitest';
import { faultsFrom, settingsFrom } from '../../support/read-settings.ts';

const read = (env: Record<string, string>, yaml?: string) =>
  settingsFrom({ env, ...(yaml === undefined ? {} : { yaml }) }).callers;

describe('settings about callers', () => {
  it('have defaults', () => {
    expect(read({})).toEqual({ clientCredentials: false, allowedHosts: [], exposeApiBase: true, parallelOfAll: null });
  });

  it('are read from the environment before the file', () => {
    const general = 'general_settings: { allow_client_side_credentials: true, expose_api_base_header: true }';
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'False' }, general)).toEqual({
      clientCredentials: true,
      allowedHosts: [],
      exposeApiBase: false,
      parallelOfAll: null,
    });
    const hidden = 'general_settings: { expose_api_base_header: false }';
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: '' }, hidden).exposeApiBase).toBe(false);
    expect(read({ LENSGATE_EXPOSE_API_BASE_HEADER: 'true' }, hidden).exposeApiBase).toBe(true);
  });

  it('take the allowed hosts from the environment before the file', () => {
    const yaml = 'litellm_settings: { user_url_allowed_hosts: [gpu.internal] }';
    expect(read({}, yaml).allowedHosts).toEqual(['gpu.internal']);
    expect(read({ LENSGATE_USER_URL_ALLOWED_HOSTS: ' 10.0.0.0/8, gpu:8000 ,,' }, yaml).allowedHosts).toEqual([
      '10.0.0.0/8',
      'gpu:8000',
    ]);
    expect(faultsFrom({ yaml, env: { LENSGATE_USER_URL_ALLOWED_HOSTS: 'gpu:8000,no/host' } })).toEqual([
      'environment: LENSGATE_USER_URL_ALLOWED_HOSTS: "no/host" is neither a host, a host and port, an IP address nor a block such as 10.0.0.0/8',
    ]);
  });

  it('refuse a value other than true and false', () => {
    expect(faultsFrom({ env: { LENSGATE_EXPOSE_API_BASE_HEADER: 'no' } })).toEqual([
      'environment: LENSGATE_EXPOSE_API_BASE_HEADER: "no" is neither true nor false',
    ]);
  });
});
