import type { Command } from '../command.ts';
import { Ended } from '../failure.ts';
import { checkedConfigKey, checkedConfigValue, configFile, readConfig, writeConfig } from '../files/config-file.ts';

export const configCommands: readonly Command[] = [
  {
    names: ['config', 'get'],
    summary: 'Print the value of a setting, or all stored settings',
    operands: ['key?'],
    run({ host }, { operands: [key] }) {
      const config = readConfig(host);
      if (key === undefined) {
        const lines = Object.keys(config)
          .toSorted()
          .map((name) => `${name} = ${config[name]}`);
        return host.terminal.print(lines.length === 0 ? '(no config set)' : lines.join('\n'));
      }
      const value = config[checkedConfigKey(key)];
      if (value !== undefined) return host.terminal.print(value);
      host.terminal.note(`${key} is not set`);
      throw new Ended(1);
    },
  },
  {
    names: ['config', 'set'],
    summary: 'Store a setting: base_url or hidden_commands',
    operands: ['key', 'value'],
    run({ host }, values) {
      const key = checkedConfigKey(values.operand(0));
      const value = checkedConfigValue(key, values.operand(1));
      writeConfig(host, { ...readConfig(host), [key]: value });
      host.terminal.print(`Set ${key} = ${value} in ${configFile(host)}`);
    },
  },
  {
    names: ['config', 'unset'],
    summary: 'Remove a setting',
    operands: ['key'],
    run({ host }, values) {
      const key = checkedConfigKey(values.operand(0));
      const { [key]: former, ...rest } = readConfig(host);
      if (former === undefined) return host.terminal.print(`${key} was not set`);
      writeConfig(host, rest);
      host.terminal.print(`Removed ${key} from ${configFile(host)}`);
    },
  },
];
