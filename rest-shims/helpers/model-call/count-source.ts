/** `litellm_count_source`: whether the provider counted the tokens. */
export const sourceOfCount = (by: 'upstream' | 'estimate'): string =>
  by === 'upstream' ? 'provider' : 'local_estimate';
