/** One-line descriptions of route rows about searches of the web and their tools. */
export const SEARCH_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'search.call': 'Search the web with a search tool.',
  'search.callTool': 'Search the web with the search tool in the path.',
  'search.tools': 'List the search tools that the key may use.',
  'searchTools.create': 'Store a search tool.',
  'searchTools.delete': 'Remove a search tool.',
  'searchTools.get': 'Read a search tool.',
  'searchTools.list': 'List search tools.',
  'searchTools.providers': 'List the supported providers of searches.',
  'searchTools.test': 'Test the settings of a search tool.',
  'searchTools.update': 'Change a search tool.',
};
