import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../src/domain/chat/provider.ts';
import { type Vendor, vendorOf } from '../../src/domain/chat/vendors.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/providers.md', import.meta.url));

const HEAD = `# Providers

Written by \`test/house/providers.test.ts\` from \`src/domain/chat/vendors.ts\`. A model of the configuration names its
provider before the first slash of \`litellm_params.model\`: \`groq/llama-3.3-70b-versatile\`. A provider that is not in this
list is called with chat completions at \`api_base\`.

If a cell has several variables, the first one that is set is used. The configuration file takes precedence over variables.
An API key from an environment variable is sent only to the default address, or to an address from an environment variable.
With another \`api_base\` in the configuration file, set \`api_key\`, too. At startup, Lensgate logs a warning for each
model that lacks a required key.

| Provider | Address | Address by variable | Key by variable | Further settings, by variable |
| --- | --- | --- | --- | --- |
`;

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

function rowOf(name: string, vendor: Vendor | null): string {
  if (vendor === null) return `| \`${name}\` | built in | | none | |`;
  const { base, baseVariables, keyVariables, keyOptional, settings, credentials } = vendor;
  const further = Object.entries({ ...settings, ...credentials }).map(
    ([setting, variables]) => `\`${setting}\`${variables.length === 0 ? '' : ` (${code(variables)})`}`,
  );
  const key = keyVariables.length > 0 && keyOptional ? `${code(keyVariables)}, optional` : code(keyVariables);
  return `| \`${name}\` | ${base === null ? '`api_base`' : base} | ${code(baseVariables)} | ${key} | ${further.join(', ')} |`;
}

it('every provider is in docs/providers.md, with its environment variables', async () => {
  const rows = PROVIDER_NAMES.toSorted().map((name) => rowOf(name, vendorOf(name)));
  await expect(`${HEAD}${rows.join('\n')}\n`).toMatchFileSnapshot(DOCUMENT);
});
