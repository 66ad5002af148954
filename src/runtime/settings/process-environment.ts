/** The environment of this process. The only read of `process.env` in the product (test/house). */
export const processEnvironment = (): NodeJS.ProcessEnv => process.env;
