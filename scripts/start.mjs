// Runs on any Node: the server itself needs the Node that the project's own dependencies bring.
const [major] = process.versions.node.split('.').map(Number);
if (major < 26) {
  console.error(
    `Lensgate runs on Node 26, which \`npm ci\` installs into the project. This is Node ${process.versions.node}.\n` +
      'Start it with `npm start`. If you did, no Node package exists for this platform: install Node 26 yourself.',
  );
  process.exit(1);
}
await import('../src/main.ts');
