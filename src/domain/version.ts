/** Version of the gateway, also in `x-litellm-version`; equal to the one in package.json. */
export const VERSION = '0.1.0';
