/** The gateway's own version, as `x-litellm-version` tells it; equal to the one in package.json. */
export const VERSION = '0.1.0';
