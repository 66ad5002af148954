/** Reasons why answers about settings differ from the recorded ones. `docs/differences.md` explains them. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  'the configuration is answered in place of a greeting': [
    'config_owned: first: config yaml',
    'models_config: config/yaml GET',
    'models_config: config/yaml body',
    'config_without_store: config/yaml',
  ],
  'only callbacks and alerts of this product are offered, without their variables': [
    'config_owned: first: get/config/callbacks',
    'config_owned: second: get/config/callbacks viewer',
  ],
  'a list of allowed addresses that would refuse its own caller is refused': [
    'config_owned: third: delete own ip',
    'config_owned: third: chat refused ip',
    'config_owned: third: chat refused ip no key',
    'config_owned: third: list refused ip',
    'config_owned: third: models',
    'config_owned: third: add/allowed_ip refused ip',
  ],
  'the list of allowed addresses ends with its last address': ['allowed_ips: delete/allowed_ip again'],
  'only addresses and blocks are accepted as addresses': [
    'allowed_ips: add/allowed_ip bad',
    'allowed_ips: delete/allowed_ip zzz',
  ],
  'a stored setting is found where it was stored': ['config_owned: first: info forward_client_headers_to_llm_api'],
  'settings of the file are refused at every path': ['config_owned: second: update/ui_settings owned key'],
  'parameters of deployments have no built-in values': ['config_without_store: router/settings'],
};

/** Intended differences of recorded cases about settings: reason by `file: name`. */
export const CHOSEN_CONFIG_DIFFERENCES: ReadonlyMap<string, string> = new Map(
  Object.entries(CASES).flatMap(([reason, names]) => names.map((name): [string, string] => [name, reason])),
);
