/** Common facts of management rows. */
export const MANAGEMENT = { surface: 'management', credential: 'required' } as const;
export const MANAGEMENT_READ = { ...MANAGEMENT, method: 'GET', bodyLimit: 0 } as const;
export const MANAGEMENT_CHANGE = { ...MANAGEMENT, method: 'POST', bodyLimit: 1024 * 1024 } as const;

/** Common facts of rows about lenses. */
const LENS = { surface: 'lens', credential: 'required' } as const;
export const LENS_READ = { ...LENS, method: 'GET', bodyLimit: 0 } as const;
export const LENS_CHANGE = { ...LENS, method: 'POST', bodyLimit: 1024 * 1024 } as const;
