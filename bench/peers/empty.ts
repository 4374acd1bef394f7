/** A program that does nothing, compiled as tarn is: what starting costs at the least. */
