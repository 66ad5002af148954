/** Value of `litellm_count_source`, which says who counted the tokens. */
export const countSource = (by: 'upstream' | 'estimate'): string => (by === 'upstream' ? 'provider' : 'local_estimate');
