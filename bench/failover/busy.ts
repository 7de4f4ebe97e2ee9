/** Keeps one core busy: `node busy.js MS`. It looks up now and then whether anybody wants that. */

process.on('disconnect', () => process.exit())
const until = performance.now() + Number(process.argv[2])

function spin(): void {
  const slice = performance.now() + 50
  while (performance.now() < slice);
  if (performance.now() < until) setImmediate(spin)
  else process.exit()
}
spin()
