#!/usr/bin/env node
/** The `holdfast` command. */

import { addDiverge } from './diverge.ts'
import { addMailbox } from './mailbox.ts'
import { runProgram } from './program.ts'
import { addServe } from './serve.ts'
import { addRooms } from './rooms.ts'
import { addTicket } from './ticket.ts'

await runProgram('holdfast', [addServe, addRooms, addTicket, addMailbox, addDiverge])
