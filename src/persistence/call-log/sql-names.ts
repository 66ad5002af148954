import { type CallValue, EXTRAS, type Extra, LATER_EXTRAS, LATER_PROFILE_COLUMNS, PROFILE_COLUMNS } from './columns.ts';

// Names in the SQL of unfolding, and the layout of a profile.

export const ALL_PROFILE_COLUMNS = [...PROFILE_COLUMNS, ...LATER_PROFILE_COLUMNS];

/** A value of the profile, by its index in `ALL_PROFILE_COLUMNS`. */
export const profileName = (index: number): string => `k_${index}`;
/** The flag of an extra in the profile. */
export const flagName = (extra: Extra): string => `x_${extra}`;
/** A value of the call. */
export const valueName = (value: CallValue): string => `v_${value}`;

export const PROFILE_NAMES = ALL_PROFILE_COLUMNS.map((_column, index) => profileName(index));
export const FLAG_NAMES = [...EXTRAS, ...LATER_EXTRAS].map(flagName);

const BEFORE_CALLS = [
  ...PROFILE_NAMES.slice(0, PROFILE_COLUMNS.length),
  ...FLAG_NAMES.slice(0, EXTRAS.length),
  'first_place',
];
/** Absent in a profile of the first version. */
const AFTER_CALLS = [...PROFILE_NAMES.slice(PROFILE_COLUMNS.length), ...FLAG_NAMES.slice(EXTRAS.length)];

/** Index of the list of calls in the JSON list of a profile. */
export const CALLS_INDEX = BEFORE_CALLS.length;
/** The values of a profile without its list of calls. This shorter list is called the head. */
export const HEAD_NAMES = [...BEFORE_CALLS, ...AFTER_CALLS];
