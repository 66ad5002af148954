/** Value of `litellm_count_source`. */
export const countSource = (by: 'upstream' | 'estimate'): string => (by === 'upstream' ? 'provider' : 'local_estimate');
