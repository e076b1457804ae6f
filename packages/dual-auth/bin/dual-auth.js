#!/usr/bin/env node
// committed, so that npm can link the command before the package is built
import '../dist/cli/cli.js'
