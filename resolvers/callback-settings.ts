import { jsonObjectOf } from '../src/domain/json-object.ts';
import { ALERTING_FIELDS, type AlertingField } from '../src/domain/settings/alerting-fields.ts';
import { GENERAL, sectionRowOf, settingViewOf } from '../src/domain/settings/ownership.ts';
import { isOfKind } from '../src/domain/settings/value-kinds.ts';
import { anyone, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { settingsState } from './operation/settings-state.ts';
import { valuesOfGroup } from '../src/domain/settings/group-values.ts';

/** Name of the setting whose members are the settings of alerts. */
const ARGUMENTS = 'alerting_args';

/** A setting of alerts with its value. */
interface AlertingSetting {
  readonly name: string;
  readonly field: AlertingField;
  /** The configured value. The default when no value is configured, and when the value has the wrong type. */
  readonly value: unknown;
  /** Whether the database sets it. Null when neither the file nor the database sets it. */
  readonly isStored: boolean | null;
}

export interface AlertingSettings {
  /** Names of the channels of alerts. */
  readonly alerting: readonly string[];
  /** Whether the database sets `alerting`. Null when neither the file nor the database sets it. */
  readonly isStored: boolean | null;
  readonly settings: readonly AlertingSetting[];
}

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');

/** Reads the settings of alerts, with built-in values for those that are not set. */
export const getAlertingSettings = operation({
  name: 'getAlertingSettings',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>): Promise<AlertingSettings> {
    const { config, stored } = await settingsState(scope);
    const storedValue = (name: string): unknown => stored.get(sectionRowOf(GENERAL, name))?.[name];
    const effective = (name: string): unknown => settingViewOf(config, stored, GENERAL, name).effectiveValue;
    const isSet = (value: unknown): boolean => value !== undefined && value !== null;
    const isStored = (effectiveOne: unknown, storedOne: unknown): boolean | null => {
      if (isSet(storedOne)) return true;
      return isSet(effectiveOne) ? false : null;
    };
    const effectiveArguments = jsonObjectOf(effective(ARGUMENTS));
    const storedArguments = jsonObjectOf(storedValue(ARGUMENTS));
    const alerting = effective('alerting');
    return {
      alerting: textsOf(alerting),
      isStored: isStored(alerting, storedValue('alerting')),
      settings: Object.entries(ALERTING_FIELDS).map(([name, field]) => {
        const value = effectiveArguments[name];
        return {
          name,
          field,
          value: value !== undefined && isOfKind(field.kind, value) ? value : field.defaultValue,
          isStored: isStored(value, storedArguments[name]),
        };
      }),
    };
  },
});

/** The logo or icon of the gateway's web pages: the address of the operator's image; null for the built-in one. */
export interface PageImage {
  readonly address: string | null;
}

/** Reads the address of the logo or the icon. Reads no store. */
export const getPageImage = operation({
  name: 'getPageImage',
  access: anyone,
  run({ platform }: Scope<SettingsPlatform>, { kind }: { readonly kind: 'logo' | 'favicon' }): PageImage {
    const { configuration } = platform;
    const values = valuesOfGroup('uiTheme', configuration.current(), configuration.stored());
    const url = values[`${kind}_url`];
    return { address: typeof url === 'string' && URL.canParse(url) && /^https?:/i.test(url) ? url : null };
  },
});
