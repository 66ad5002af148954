/** One-line descriptions of route rows about plugins. */
export const PLUGIN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'plugins.delete': 'Remove a plugin.',
  'plugins.disable': 'Remove a plugin from the marketplace, but keep it.',
  'plugins.enable': 'List a plugin in the marketplace.',
  'plugins.extensions': 'List extensions of the dashboard: none.',
  'plugins.get': 'Read a plugin.',
  'plugins.hub': 'List the enabled plugins, for everyone.',
  'plugins.list': 'List plugins of Claude Code.',
  'plugins.marketplace': 'List the enabled plugins in the marketplace format of Claude Code.',
  'plugins.register': 'Register a plugin of Claude Code, or replace the one with its name.',
  'plugins.replace': 'Replace the content of a plugin.',
};
